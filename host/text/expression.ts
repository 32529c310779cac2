/** Integer expressions over symbols: what may stand where a number is expected. */

/** A symbol's value, or undefined where there is no such symbol. */
export type Symbols = (name: string) => number | undefined

/** Lowest first; of one level from left to right. */
const LEVELS: readonly (readonly string[])[] = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '%']]
const MAX_TOKENS = 500
const TOKEN = /\s*(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+(?![\w.])|[A-Za-z_.$][\w.$@]*|<<|>>|[-+*/%&|^~()])/y

/**
 * The value of an expression of integers, symbols, `+ - * / % & | ^ ~ << >>` and parentheses.
 * @returns undefined where the text is no such expression or a symbol in it is unknown
 */
export function evaluate(text: string, symbols: Symbols): number | undefined {
  const tokens = tokenize(text)
  // The bound keeps hostile nesting off the stack.
  if (tokens === undefined || tokens.length === 0 || tokens.length > MAX_TOKENS) return undefined
  let place = 0
  const level = (depth: number): number | undefined => {
    if (depth === LEVELS.length) return unary()
    let value = level(depth + 1)
    while (value !== undefined && LEVELS[depth]!.includes(tokens[place] ?? '')) {
      const operator = tokens[place++]!
      const right = level(depth + 1)
      value = right === undefined ? undefined : apply(operator, value, right)
    }
    return value
  }
  const unary = (): number | undefined => {
    const token = tokens[place++]
    if (token === undefined) return undefined
    if (token === '-' || token === '+' || token === '~') {
      const value = unary()
      return value === undefined ? undefined : token === '-' ? -value : token === '+' ? value : -value - 1
    }
    if (token === '(') {
      const value = level(0)
      return tokens[place++] === ')' ? value : undefined
    }
    return /^\d/.test(token) ? Number(token) : /^[A-Za-z_.$]/.test(token) ? symbols(token) : undefined
  }
  const value = level(0)
  return place === tokens.length ? value : undefined
}

function tokenize(text: string): string[] | undefined {
  const tokens: string[] = []
  const source = text.trim()
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < source.length) {
    const match = TOKEN.exec(source)
    if (match === null) return undefined
    tokens.push(match[1]!)
  }
  return tokens
}

/** Numbers have more than 32 bits, so bit operations go through BigInt. */
function apply(operator: string, left: number, right: number): number | undefined {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return right === 0 ? undefined : Math.trunc(left / right)
    case '%':
      return right === 0 ? undefined : left % right
  }
  if (!Number.isSafeInteger(left) || !Number.isSafeInteger(right)) return undefined
  const [a, b] = [BigInt(left), BigInt(right)]
  switch (operator) {
    case '&':
      return Number(a & b)
    case '|':
      return Number(a | b)
    case '^':
      return Number(a ^ b)
    case '<<':
      return b < 0n || b > 63n ? undefined : Number(a << b)
    case '>>':
      return b < 0n || b > 63n ? undefined : Number(a >> b)
    default:
      return undefined
  }
}
