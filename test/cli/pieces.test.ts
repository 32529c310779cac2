import { inflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readArguments, UsageError } from '../../host/cli/arguments.ts'
import { bar, coloursOf } from '../../host/cli/io.ts'
import { draw } from '../../host/cli/picture.ts'
import { crc32, png } from '../../host/cli/png.ts'
import { duration, grouped, table, wrap } from '../../host/cli/table.ts'
import { nearest } from '../../host/results/nearest.ts'

describe('readArguments', () => {
  const options = {
    jobs: { value: 'FILE', help: '' },
    check: { help: '' },
    words: { value: 'WORD', multiple: true, help: '' },
    target: { short: 't', value: 'NAME', help: '' },
  }
  test('values, switches, short options and the rest', () => {
    const values = readArguments(['a', '--jobs', 'f', '--check', '-t', 'gfx803', '--words=1', '--words', '2', 'b'], options)
    expect(values.text('jobs')).toBe('f')
    expect(values.flag('check')).toBe(true)
    expect(values.text('target')).toBe('gfx803')
    expect(values.list('words')).toEqual(['1', '2'])
    expect(values.positionals).toEqual(['a', 'b'])
  })
  test('what follows -- is no option, and - is a name', () => {
    expect(readArguments(['-', '--', '--check'], options).positionals).toEqual(['-', '--check'])
  })
  test.each([
    [['--chek'], 'unknown option --chek; did you mean --check?'],
    [['--colour'], 'unknown option --colour; see --help'],
    [['--jobs'], '--jobs needs a value: --jobs FILE'],
    [['--check=yes'], '--check takes no value'],
    [['--jobs', 'a', '--jobs', 'b'], '--jobs is given twice'],
  ])('%j: %s', (args, message) => {
    expect(() => readArguments(args, options)).toThrow(new UsageError(message))
  })
})

test('nearest finds a slip and leaves strangers alone', () => {
  const names = ['expect', 'buffers', 'budget', 'read']
  expect([nearest('expct', names), nearest('bufers', names), nearest('Read', names), nearest('colour', names)]).toEqual([
    'expect',
    'buffers',
    'read',
    undefined,
  ])
})

describe('png', () => {
  const rgb = Uint8Array.from({ length: 2 * 3 * 3 }, (_, i) => i * 10)
  const file = png(2, 3, rgb)
  const view = new DataView(file.buffer)
  test('begins and ends as PNG files do', () => {
    expect(Buffer.from(file.subarray(0, 8)).toString('hex')).toBe('89504e470d0a1a0a')
    expect([view.getUint32(16), view.getUint32(20)]).toEqual([2, 3])
    expect(Buffer.from(file.subarray(-12)).toString('hex')).toBe('0000000049454e44ae426082')
  })
  test('holds the rows, each behind a zero', () => {
    const length = view.getUint32(33)
    const rows = inflateSync(file.subarray(41, 41 + length))
    expect([...rows]).toEqual([0, ...rgb.slice(0, 6), 0, ...rgb.slice(6, 12), 0, ...rgb.slice(12)])
  })
  test('CRC-32 of "123456789" is cbf43926', () => expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926))
})

describe('draw', () => {
  const picture = { width: 2, height: 2, rgb: Uint8Array.of(255, 255, 255, 0, 0, 0, 255, 255, 255, 0, 0, 0) }
  test('true colour: the upper pixel as colour, the lower as background', () => {
    expect(draw(picture, 'true')).toBe('\x1b[38;2;255;255;255;48;2;255;255;255m▀\x1b[38;2;0;0;0;48;2;0;0;0m▀\x1b[0m\n')
  })
  test('256 colours', () => expect(draw(picture, '256')).toBe('\x1b[38;5;231;48;5;231m▀\x1b[38;5;16;48;5;16m▀\x1b[0m\n'))
  test('no colour', () => expect(draw(picture, 'none')).toBe('@ \n'))
})

describe('colours', () => {
  const stream = (isTTY: boolean) => ({ isTTY, columns: 80, write: async () => {} })
  test.each<[boolean, Record<string, string>, string]>([
    [true, {}, '256'],
    [true, { COLORTERM: 'truecolor' }, 'true'],
    [true, { COLORTERM: 'truecolor', NO_COLOR: '1' }, 'none'],
    [true, { NO_COLOR: '' }, '256'],
    [true, { TERM: 'dumb' }, 'none'],
    [false, { COLORTERM: 'truecolor' }, 'none'],
  ])('terminal %s with %j: %s', (isTTY, env, colours) => expect(coloursOf(stream(isTTY), env)).toBe(colours))
})

test('a progress bar is as wide as it is told', () => {
  expect(bar('core', 1, 2, 20)).toBe('core █████░░░░░  50%')
  expect(bar('core', 0, 0, 20)).toHaveLength(20)
})

test('tables align columns', () => {
  expect(
    table(
      ['where', 'at', 'x'],
      [
        ['v2', '3', 'a'],
        ['v10', '63', ''],
      ],
      [1],
    ),
  ).toBe('where  at  x\nv2      3  a\nv10    63\n')
})

test('text is broken at blanks', () => expect(wrap('one two three', 9, 2)).toBe('  one two\n  three'))
test('numbers', () =>
  expect([grouped(1234567), grouped(12), duration(0.0000123), duration(0.0123), duration(1.234)]).toEqual([
    '1,234,567',
    '12',
    '12 µs',
    '12.3 ms',
    '1.23 s',
  ]))
