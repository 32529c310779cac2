/**
 * Many workers.
 *
 * ```ts
 * const device = new Device(await createCore({ shared: true }), TARGETS.gfx803)
 * const pool = new Pool()
 * const { threads, error } = await pool.run(dispatch(device, kernel, launch), { threads: 4 })
 * pool.close()
 * ```
 *
 * Each thread has an engine and a device of its own on one linear memory, and the guest's memory at the same addresses. Workgroups are taken
 * from a shared counter. In order of their numbers they are the same as on one thread, so of several that stop the first one counts.
 */
export { Pool, type PoolOptions, type PoolOutcome, type PoolRunOptions } from './pool.ts'
export { canShare, coreCount } from './thread.ts'
