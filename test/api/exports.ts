/** What host/index.ts exports, name by name, and where each is declared. For tests only. */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export interface Export {
  readonly name: string
  /** Exported as a type only: nothing at run time. */
  readonly isType: boolean
  readonly file: string
}

const EXPORT = /^export (type )?\{([^}]*)\} from '([^']+)'/gm

/** The exports of a file that does nothing but re-export, followed to the files that declare them. */
export function exportsOf(file: string): Export[] {
  const source = readFileSync(file, 'utf8')
  return [...source.matchAll(EXPORT)].flatMap(([, typeOnly, names, from]) => {
    const path = normalize(join(dirname(file), from!))
    return names!
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
      .map((name) => ({ name: name.replace(/^type /, ''), isType: typeOnly !== undefined || name.startsWith('type ') }))
      .map(({ name, isType }) => ({ name, isType, file: declaredIn(path, name) }))
  })
}

function declaredIn(file: string, name: string): string {
  const passedOn = [...readFileSync(file, 'utf8').matchAll(EXPORT)].find(([, , names]) => new RegExp(`\\b${name}\\b`).test(names!))
  return passedOn === undefined ? file : declaredIn(normalize(join(dirname(file), passedOn[3]!)), name)
}

/** The doc comment of a declaration, or undefined where it has none. */
export function docOf({ name, file }: Export): string | undefined {
  const declaration = new RegExp(
    `(?:/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*)?^export (?:declare )?(?:async )?(?:abstract )?(?:function\\*?|class|const|interface|type) ${name}\\b`,
    'm',
  )
  const found = declaration.exec(readFileSync(file, 'utf8'))
  if (found === null) throw new Error(`${file} does not declare ${name}`)
  return found[1]?.replace(/^\s*\*/gm, '').trim()
}
