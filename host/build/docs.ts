/** `npm run docs`: writes docs/operations.md. */
import { writeFile } from 'node:fs/promises'
import { operationsPage } from '../explain/page.ts'

await writeFile('docs/operations.md', operationsPage())
