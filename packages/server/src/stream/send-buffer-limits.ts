/** Limits of what is buffered for one reader, and for all of them. */
export interface SendBufferLimits {
  readonly messagesMax: number
  readonly bytesMax: number
  /** How long a reader may stall. */
  readonly stalledMs: number
  /** Bytes buffered for all readers of the process; above it the longest buffer is dropped first. */
  readonly allBytesMax: number
}

export const SEND_BUFFER_LIMITS: SendBufferLimits = {
  messagesMax: 16_384,
  bytesMax: 4 * 1024 * 1024,
  stalledMs: 8_000,
  allBytesMax: 256 * 1024 * 1024
}
