// The faults that have a button, and which of the faults that are set is which.
import type { SandboxFault, SandboxFaultTicket } from './generated/admin.ts'

/** A fault that has a button of its own. */
export interface KnownFault {
  readonly name: string
  readonly ticket: SandboxFaultTicket
}

const next = { on: 'orders.submit', times: 1 } as const

export const KNOWN_FAULTS: readonly KnownFault[] = [
  { name: 'Refuse the next order', ticket: { ...next, do: 'refuse', message: 'Refused by an operator.' } },
  { name: 'Refuse the next order after it was taken', ticket: { ...next, do: 'refuse_later', message: 'Refused by an operator.' } },
  { name: 'Lose the answer of the next order', ticket: { ...next, do: 'lose_answer' } },
  { name: 'Lose the next order itself', ticket: { ...next, do: 'reset' } },
  { name: 'Fill across the next cancel (5 s)', ticket: { on: 'orders.cancel', do: 'slow', ms: 5_000, times: 1 } },
  { name: 'Every answer 2 s late', ticket: { on: '*', do: 'delay', ms: 2_000 } },
  { name: 'No answer at all', ticket: { on: '*', do: 'hang' } },
  { name: 'Every request fails (503)', ticket: { on: '*', do: 'status', status: 503 } },
  { name: 'Too many requests (429)', ticket: { on: '*', do: 'status', status: 429, retry_after: 5 } },
  { name: 'Unreadable positions', ticket: { on: 'positions.list', do: 'spoil' } }
]

/** Those of the set faults that do what the button does, to everybody. */
export function setOnes({ ticket }: Pick<KnownFault, 'ticket'>, faults: readonly SandboxFault[]): readonly SandboxFault[] {
  const { on, do: effect, ms = 0, status = null, times = null } = ticket
  return faults.filter(
    fault =>
      fault.on === on &&
      fault.do === effect &&
      fault.ms === ms &&
      fault.status === status &&
      fault.times === times &&
      fault.login === null &&
      fault.symbol === null &&
      fault.client_order_id === null
  )
}

/** What a fault does, with the figures of its effect. */
export function faultText({ do: effect, ms, status, retry_after: retryAfter, code, skip, after }: SandboxFault): string {
  const parts = [
    ...(status === null ? [] : [`status ${status}`]),
    ...(ms === 0 ? [] : [`${ms} ms`]),
    ...(retryAfter === null ? [] : [`Retry-After ${retryAfter} s`]),
    ...(code === null ? [] : [`code ${code}`]),
    ...(skip === 0 ? [] : [`after ${skip} that pass`]),
    ...(after ? ['after it was carried out'] : [])
  ]
  return parts.length === 0 ? effect : `${effect} (${parts.join(', ')})`
}

/** Whose requests a fault hits, and about what; null: all requests. */
export function narrowedText({ login, symbol, client_order_id: order }: SandboxFault): string | null {
  const parts = [
    ...(login === null ? [] : [`user ${login}`]),
    ...(symbol === null ? [] : [`symbol ${symbol}`]),
    ...(order === null ? [] : [`order ${order}`])
  ]
  return parts.length === 0 ? null : parts.join(', ')
}
