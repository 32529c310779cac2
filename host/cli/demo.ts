/** `lanewise demo`: a compiled kernel draws the Mandelbrot set, and the reference confirms it. */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { bytesOfHex, type JobResult, type RunJobOptions, readJob, runJob } from '../index.ts'
import { type Command, UsageError, type Values } from './arguments.ts'
import { coloursOf, type Io, Progress } from './io.ts'
import { draw, type Picture } from './picture.ts'
import { png } from './png.ts'
import { duration, grouped, large, table } from './table.ts'

export const demo: Command = {
  summary: 'draw the Mandelbrot set with a compiled kernel, cross-checked',
  usage: 'demo [OPTION...]',
  options: { png: { value: 'FILE', help: 'Write the picture to FILE, too.' } },
  notes: ['The kernel is OpenCL C compiled for gfx803; source and code object are in data/ of this package.'],
  examples: [
    ['lanewise demo', 'a picture in the terminal (NO_COLOR=1: in plain characters)'],
    ['lanewise demo --png mandelbrot.png', 'and a larger one in a file'],
  ],
  run: demoCommand,
}

const OBJECT = fileURLToPath(new URL('../../data/mandelbrot/gfx803.co', import.meta.url))
/** Terminal pixels: characters are two of them high. */
const COLUMNS = 76
const ROWS = 48
/** Pixels of the whole picture to one of the terminal's, each way. */
const ZOOM = 8
/** Terminal pixels to one of the picture that the reference draws, which takes tens of microseconds for an instruction. */
const COARSE = 2
const WIDE = COLUMNS * ZOOM
const HIGH = ROWS * ZOOM
const ITERATIONS = 256
const LANES = 64

async function demoCommand(values: Values, io: Io): Promise<number> {
  if (values.positionals.length > 0) throw new UsageError('demo takes no arguments; see lanewise demo --help')
  const fast = await render(WIDE, HIGH, { engine: 'translate' }, io)
  const core = await render(WIDE, HIGH, { engine: 'core' }, io)
  const checked = await render(COLUMNS / COARSE, ROWS / COARSE, { engine: 'core', check: true }, io)
  const picture = colour(core, WIDE, HIGH)
  const file = values.text('png')
  if (file !== undefined) await writeFile(file, png(picture.width, picture.height, picture.rgb))
  const numbers = summary(fast, core, checked)
  if (values.flag('json')) await io.out.write(`${JSON.stringify(numbers)}\n`)
  else await io.out.write(`${draw(reduced(picture, ZOOM), coloursOf(io.out, io.env))}\n${text(numbers)}`)
  return numbers.agree ? 0 : 1
}

/** Runs the kernel over the same part of the plane, in whatever resolution. */
async function render(width: number, height: number, options: RunJobOptions, io: Io): Promise<JobResult> {
  const step = 3 / width
  const job = readJob({
    name: 'mandelbrot',
    target: 'gfx803',
    code: { object: OBJECT, kernel: 'mandelbrot' },
    grid: [Math.ceil(width / 32) * 32, Math.ceil(height / 8) * 8, 1],
    workgroup: [32, 8, 1],
    args: [
      { type: 'u32', value: width },
      { type: 'u32', value: height },
      { type: 'f32', value: -2.2 },
      { type: 'f32', value: (-step * height) / 2 },
      { type: 'f32', value: step },
      { type: 'f32', value: step },
      { type: 'u32', value: ITERATIONS },
      { buffer: 'out' },
    ],
    buffers: { out: { type: 'u32', length: width * height } },
    read: ['out'],
  })
  const progress = new Progress(io.err, options.check ? 'cross-check' : `${options.engine}`)
  const onProgress = (done: number, total: number): void => void progress.show(done, total)
  const result = await runJob(job, { ...options, signal: io.signal, readFile: (path) => readFile(path), onProgress })
  await progress.clear()
  if (result.error !== undefined) throw new Error(result.error.message)
  return result
}

/** Escape counts to colours: black inside, outside a wheel that turns with the logarithm of the count. */
function colour(result: JobResult, width: number, height: number): Picture {
  const { hex } = result.read.out as { hex: string }
  const counts = new DataView(bytesOfHex(hex)!.buffer)
  const rgb = new Uint8Array(width * height * 3)
  for (let i = 0; i < width * height; i++) {
    const count = counts.getUint32(i * 4, true)
    if (count < ITERATIONS) rgb.set(wheel(Math.log2(count + 1) / Math.log2(ITERATIONS)), i * 3)
  }
  return { width, height, rgb }
}

/** From deep blue over white to amber. */
function wheel(part: number): number[] {
  const stops = [
    [8, 16, 64],
    [24, 88, 184],
    [232, 244, 255],
    [255, 176, 24],
    [120, 24, 8],
  ] as const
  const at = Math.min(part * 1.2, 0.999) * (stops.length - 1)
  const from = stops[Math.floor(at)]!
  const to = stops[Math.floor(at) + 1]!
  return from.map((value, channel) => Math.round(value + (to[channel]! - value) * (at % 1)))
}

/** Each pixel the mean of a square. */
function reduced({ width, height, rgb }: Picture, by: number): Picture {
  const small = { width: width / by, height: height / by, rgb: new Uint8Array((width / by) * (height / by) * 3) }
  for (let y = 0; y < small.height; y++)
    for (let x = 0; x < small.width; x++)
      for (let channel = 0; channel < 3; channel++) {
        let sum = 0
        for (let v = 0; v < by; v++) for (let u = 0; u < by; u++) sum += rgb[((y * by + v) * width + x * by + u) * 3 + channel]!
        small.rgb[(y * small.width + x) * 3 + channel] = sum / (by * by)
      }
  return small
}

/** The numbers of the demo: how fast the engines are, and whether they agree. */
function summary(fast: JobResult, core: JobResult, checked: JobResult) {
  const speed = (instructions: number, seconds: number) => ({
    instructions,
    seconds,
    laneInstructionsPerSecond: (instructions * LANES) / seconds,
  })
  const same = (fast.read.out as { hex: string }).hex === (core.read.out as { hex: string }).hex
  return {
    width: WIDE,
    height: HIGH,
    translate: speed(fast.instructions, fast.seconds),
    core: speed(core.instructions, core.seconds),
    reference: speed(checked.instructions, checked.check!.seconds),
    agree: same && fast.status === 'ok' && core.status === 'ok' && checked.status === 'ok',
  }
}

function text(numbers: ReturnType<typeof summary>): string {
  const { width, height, reference, agree } = numbers
  const rows = (['translate', 'core', 'reference'] as const).map((engine) => {
    const { instructions, seconds, laneInstructionsPerSecond } = numbers[engine]
    const ratio = laneInstructionsPerSecond / reference.laneInstructionsPerSecond
    return [
      engine,
      grouped(instructions),
      duration(seconds),
      large(laneInstructionsPerSecond),
      `${ratio < 10 ? ratio.toFixed(1) : grouped(ratio)} x`,
    ]
  })
  return [
    `Mandelbrot set, ${width} x ${height} (reference ${COLUMNS / COARSE} x ${ROWS / COARSE}), a gfx803 kernel made by clang`,
    table(['engine', 'wave instructions', 'time', 'lane instructions/s', 'speed'], rows, [1, 2, 3, 4]),
    agree ? 'All engines agree: the same bits, compared with the reference in step.' : 'THE ENGINES DIFFER.',
    '',
  ].join('\n')
}
