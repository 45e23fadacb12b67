/** What an attacker sends. `badLogins` are with the platform's own id and with unknown ones in turn, each with a secret that is wrong. */
export type Attack = 'metricsReaders' | 'badLogins' | 'userFlood'

export type AttackerRequests = {
  readonly attack: { readonly input: AttackPlan; readonly output: Attacked }
}

export interface AttackPlan {
  readonly baseUrl: string
  readonly attack: Attack
  /** Each request comes from the next of so many addresses, as a trusted proxy states them. */
  readonly addresses: number
  /** Null: as many as come back, over so many connections. */
  readonly perSecond: number | null
  readonly connections: number
  readonly seconds: number
  /** Of the platform, and of the user whose flood it is. */
  readonly headers: Readonly<Record<string, string>>
}

export interface Attacked {
  readonly perSecond: number
  /** How many were answered with each status. */
  readonly statuses: Readonly<Record<string, number>>
}
