/** The modes of a key at TradeStation and the bounds of the service: given by anyone who opens the dialect, changed by the control API. */

import { Fields } from '../frame/brokerage.ts'

export interface TradestationOptions {
  /** Whether the key's refresh tokens are spent by a refresh, which then brings another one. TradeStation's default is not. */
  readonly rotation: boolean
  /** Each request quota, in percent of the published one. */
  readonly quotaPercent: number
  /** Streams of one kind that a login may have open, in percent of the published number. */
  readonly streamPercent: number
  /** Chance in 256 that a cut is made in the frames of one turn, so that a chunk ends within a frame. */
  readonly cutChance: number
  /** Chance in 256 of each of the stream's documented oddities: see README.md. */
  readonly oddityChance: number
}

/**
 * Quotas are twenty times the published ones: tests and benches drive one login harder than a user's programs may, and learn nothing from
 * waiting. The caps on open streams are the published ones, because a client has to live within them from the first day.
 */
export const DEFAULT_OPTIONS: TradestationOptions = {
  rotation: false,
  quotaPercent: 2_000,
  streamPercent: 100,
  cutChance: 64,
  oddityChance: 64
}

const FIELDS = ['rotation', 'quota_percent', 'stream_percent', 'cut_chance', 'oddity_chance']
const PERCENT_MAX = 1_000_000
const CHANCE_MAX = 256

/** The options as they are now. */
export class Modes {
  readonly #given: TradestationOptions
  #now: TradestationOptions

  constructor(given: TradestationOptions) {
    this.#given = given
    this.#now = given
  }

  get now(): TradestationOptions {
    return this.#now
  }

  shown(): object {
    const { rotation, quotaPercent, streamPercent, cutChance, oddityChance } = this.#now
    return {
      rotation,
      quota_percent: quotaPercent,
      stream_percent: streamPercent,
      cut_chance: cutChance,
      oddity_chance: oddityChance
    }
  }

  /** What is left out stays. @throws Problem `bad_request` */
  set(body: unknown): void {
    const fields = new Fields(body, FIELDS)
    const { rotation, quotaPercent, streamPercent, cutChance, oddityChance } = this.#now
    this.#now = {
      rotation: fields.flagOr('rotation') ?? rotation,
      quotaPercent: fields.countOr('quota_percent', 1, PERCENT_MAX) ?? quotaPercent,
      streamPercent: fields.countOr('stream_percent', 1, PERCENT_MAX) ?? streamPercent,
      cutChance: fields.countOr('cut_chance', 0, CHANCE_MAX) ?? cutChance,
      oddityChance: fields.countOr('oddity_chance', 0, CHANCE_MAX) ?? oddityChance
    }
  }

  reset(): void {
    this.#now = this.#given
  }
}

/** At least one of anything. */
export function shareOf(count: number, percent: number): number {
  return Math.max(1, Math.floor((count * percent) / 100))
}
