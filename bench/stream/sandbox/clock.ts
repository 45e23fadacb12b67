import { timestampOfMs } from '@trunkline/core/domain/timestamp'

/** Real time as the sandbox's API writes it. */
export function sandboxNow(): string {
  return timestampOfMs(performance.timeOrigin + performance.now())
}
