/** Plays a market in detail. */
import type { FeedCommand, Market } from '../../src/market/index.ts'

const STEP = 600_000_000

export interface Paced {
  readonly until: number
  /** Unused data is not stored: an hour of order books is half a gigabyte. */
  readonly keep?: (command: FeedCommand) => boolean
}

/** Plays in steps of ten minutes, so that nothing is summarised. */
export async function paced(market: Market, from: number, { until, keep = () => true }: Paced): Promise<readonly FeedCommand[]> {
  const commands: FeedCommand[] = []
  for (let step = from; step < until; ) {
    step = Math.min(step + STEP, until)
    for (let through = from; through < step; ) {
      const delivery = await market.next(step)
      through = delivery.through
      for (const command of delivery.commands) if (keep(command)) commands.push(command)
    }
  }
  return commands
}
