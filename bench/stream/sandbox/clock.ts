import { timestampOfMs } from '@trunkline/core/domain/timestamp'

/** Real time in the format of the sandbox's API. */
export function sandboxNow(): string {
  return timestampOfMs(performance.timeOrigin + performance.now())
}
