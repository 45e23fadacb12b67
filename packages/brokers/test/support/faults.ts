/** A fault of the contract as a request of the sandbox's control API. */

import type { InjectedFault } from '@trunkline/testkit/broker-contract/index'

export function faultOf(how: InjectedFault): object {
  switch (how.kind) {
    case 'lose_answer':
    case 'reset':
      return { do: how.kind }
    case 'answer_late':
      return { do: 'delay', ms: how.ms, after: true }
    case 'status':
      return {
        do: 'status',
        status: how.status,
        after: how.done,
        ...(how.retryAfterS === undefined ? {} : { retry_after: how.retryAfterS })
      }
    case 'place':
      return { do: how.kind }
    case 'html':
    case 'truncate':
    case 'garbage':
      return { do: how.kind, after: true }
    case 'spoil':
      return { do: how.kind, record: how.record, ...(how.as === undefined ? {} : { body: how.as }) }
    case 'refuse':
      return { do: how.later === true ? 'refuse_later' : 'refuse', message: how.message }
    case 'slow':
    case 'hide':
      return { do: how.kind, ms: how.ms }
  }
}
