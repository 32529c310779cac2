/** A worker: takes part in the dispatches it is invited to. Runs in a worker thread of Node or a module worker of a browser. */
import { joinCore } from '../core/engine.ts'
import { type Code, Device, dispatchTwin, type Execution, pause, SLICE_MS } from '../device/index.ts'
import type { Engine, EngineName, EngineSeed } from '../engine.ts'
import { LanewiseError } from '../errors.ts'
import { Control } from './control.ts'
import type { Answer, Invitation, Message, News } from './messages.ts'
import { Share } from './share.ts'

/** What this worker has for the device of the last invitation. */
interface Session {
  readonly number: number
  readonly device: Device
  readonly codes: Map<number, Code>
  /** The last dispatch; its waves stay readable until the next one. */
  execution: Execution | undefined
  /** Number of its code. */
  code: number
}

let session: Session | undefined
/** What the first thread has told since the last invitation: some of it before all was ready to hear it. */
let news: News[] = []

/** Node's parent port; undefined in browsers, where the worker's own global scope is used. */
const port = globalThis.process?.getBuiltinModule?.('node:worker_threads')?.parentPort ?? undefined
const scope = globalThis as unknown as MessagePort

const answer = (message: Answer): void => (port ?? scope).postMessage(message)

async function accept(invitation: Invitation): Promise<void> {
  const { index, threads, groupCount, budget } = invitation
  const control = new Control(groupCount, threads, invitation.control)
  if (!control.join(index)) return
  const share = new Share(control, budget)
  try {
    await run(invitation, share)
  } catch (error) {
    if (share.claimed) return answer({ form: 'failed', ...failureOf(error) })
  }
  answer({ form: 'report', report: share.report() })
}

async function run({ device: number, engine, seed, twin, code, translations }: Invitation, share: Share): Promise<void> {
  if (session?.number !== number) {
    session = undefined
    session = { number, device: deviceOf(await join(engine, seed), twin), codes: new Map(), execution: undefined, code }
  }
  const { device, codes } = session
  session.execution?.free()
  session.execution = undefined
  const known = codes.get(code) ?? twin.kernel.code
  codes.set(code, known)
  const execution = dispatchTwin(device, { ...twin, kernel: { ...twin.kernel, code: known } }, share.claim)
  session.execution = execution
  session.code = code
  share.begin(execution)
  for (const item of [...translations.map((made) => ({ code, made })), ...news]) adopt(item)
  answer({ form: 'ready' })
  for (let paused = performance.now(); share.step(); ) {
    // Only what translates has something to hear meanwhile.
    if (device.engine.translations === undefined || performance.now() - paused < SLICE_MS) continue
    await pause()
    paused = performance.now()
  }
}

/** Takes over what the first thread has translated of the code that runs here. */
function adopt({ code, made }: Pick<News, 'code' | 'made'>): void {
  const wave = session?.execution?.waves[0]
  if (session?.code === code && wave !== undefined) session.device.engine.translations?.adopt(wave.program.host, made)
}

const join = async (name: EngineName, seed: EngineSeed): Promise<Engine> =>
  name === 'translate' ? (await translator()).joinTranslate(seed) : joinCore(seed)
const translator = () => import('../translate/engine.ts')

// No instructions' texts: the first thread tells faults once more, in its own words.
const deviceOf = (engine: Engine, { target, gdsAddress }: Invitation['twin']): Device => new Device(engine, target, { gdsAddress })

function failureOf(error: unknown) {
  if (error instanceof LanewiseError) return { code: error.code, message: error.message }
  return { code: 'ERR_CORE' as const, message: `a worker failed: ${error instanceof Error ? error.message : error}` }
}

function hear(message: Message): void {
  if (message.form === 'translation') {
    news.push(message)
    adopt(message)
  } else if (message.form === 'invitation') {
    news = []
    void accept(message)
  } else if (message.engine === 'translate') void translator()
}

// Node hands messages to `on` as they are; for `onmessage` it makes events, and for these it loads all of its fetch: tens of milliseconds.
if (port === undefined) scope.onmessage = ({ data }: MessageEvent<Message>) => hear(data)
else port.on('message', hear)
