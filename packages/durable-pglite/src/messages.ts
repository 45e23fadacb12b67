/** Messages between this process, the engine's thread, and the process that creates a database. */
import type { FileSystemHook } from './durable-fs.ts'
import type { RefusedReason } from './errors.ts'

export interface CreateInput {
  readonly directory: string
  readonly hook: FileSystemHook | null
}

export interface ThreadInput extends CreateInput {
  readonly sharedBuffersMb: number
  readonly filesMax: number
  readonly fsyncs: BigInt64Array<SharedArrayBuffer>
}

/** The thread's first and last message. All others are bytes that answer bytes. */
export type ThreadNotice =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly reason: RefusedReason; readonly message: string }
  | { readonly kind: 'closed' }

/** Sent instead of bytes to shut the engine down. */
export const CLOSE = 'close'
/** Sent instead of bytes to end the thread and leave the database unchanged: the next start replays its log. */
export const LEAVE = 'leave'

export function isCreateInput(value: unknown): value is CreateInput {
  return typeof value === 'object' && value !== null && 'directory' in value && typeof value.directory === 'string' && 'hook' in value
}

export function isThreadNotice(value: unknown): value is ThreadNotice {
  return typeof value === 'object' && value !== null && 'kind' in value && ['ready', 'refused', 'closed'].includes(String(value.kind))
}
