/** The requests of an attacker. `badLogins` alternate between the platform's own id and unknown ones, each with a wrong secret. */
export type Attack = 'metricsReaders' | 'badLogins' | 'userFlood'

export type AttackerRequests = {
  readonly attack: { readonly input: AttackPlan; readonly output: Attacked }
}

export interface AttackPlan {
  readonly baseUrl: string
  readonly attack: Attack
  /** Requests come from this many addresses in rotation, as stated by a trusted proxy. */
  readonly addresses: number
  /** Null: as fast as answers return, over this many connections. */
  readonly perSecond: number | null
  readonly connections: number
  readonly seconds: number
  /** Credentials of the platform, and of the user whose flood it is. */
  readonly headers: Readonly<Record<string, string>>
}

export interface Attacked {
  readonly perSecond: number
  /** The number of answers with each status. */
  readonly statuses: Readonly<Record<string, number>>
}
