import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/** What each room of host/ may import besides itself and errors.ts; docs/architecture.md draws it. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  isa: [],
  codec: ['isa'],
  text: ['isa', 'codec'],
  object: [],
  plan: ['isa', 'codec'],
  reference: ['isa', 'plan', 'engine'],
  core: ['isa', 'plan', 'engine'],
  translate: ['isa', 'plan', 'core', 'engine', 'translate/code', 'translate/wasm', 'translate/block', 'translate/nest'],
  'translate/code': ['isa', 'plan', 'core'],
  'translate/wasm': [],
  'translate/block': ['isa', 'plan', 'core', 'engine', 'translate/code', 'translate/wasm'],
  'translate/nest': ['isa', 'plan', 'translate/code', 'translate/wasm', 'translate/block'],
  engine: [],
  device: ['isa', 'codec', 'object', 'plan', 'engine'],
  results: ['isa', 'codec', 'text', 'plan', 'engine', 'device'],
  pool: ['engine', 'core', 'translate', 'device'],
  explain: ['isa', 'codec', 'text', 'results', 'jobs'],
  trace: ['isa', 'codec', 'text', 'plan', 'engine', 'device', 'results'],
  jobs: ['trace', 'isa', 'codec', 'text', 'object', 'plan', 'engine', 'reference', 'core', 'translate', 'device', 'results', 'pool'],
  index: [
    'trace',
    'isa',
    'codec',
    'text',
    'object',
    'plan',
    'engine',
    'reference',
    'core',
    'translate',
    'device',
    'results',
    'jobs',
    'pool',
    'explain',
  ],
  cli: ['index'],
  playground: ['index'],
}

const files = (readdirSync('host', { recursive: true, encoding: 'utf8' }) as string[]).filter(
  (f) => f.endsWith('.ts') && !f.startsWith('build/'),
)
/** The folder that ARROWS names, the innermost one; of a file beside the folders its own name. */
function roomOf(file: string): string {
  const folders = dirname(file).split('/')
  const inner = folders.slice(0, 2).join('/')
  if (inner === '.') return file.replace('.ts', '')
  return inner in ARROWS ? inner : folders[0]!
}

test.each(files)('host/%s imports only along the arrows', (file) => {
  const room = roomOf(file)
  const allowed = room === 'errors' ? [] : [room, 'errors', ...(ARROWS[room] ?? [])]
  const source = readFileSync(join('host', file), 'utf8')
  const imports = [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((m) => normalize(join(dirname(file), m[1]!)))
  expect(imports.filter((i) => !allowed.includes(roomOf(i)))).toEqual([])
})
