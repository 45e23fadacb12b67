// How the steps of an order are named: no more is said than their records do.
import { shown } from './format.ts'
import type { OrderStep, Submission } from './generated/admin.ts'

const TITLES: Readonly<Record<OrderStep['step'], string>> = {
  request: 'Request',
  recorded: 'Checked and recorded',
  sent: 'Sent to the broker',
  answer: 'Answer of the broker',
  settled: 'Settled without an answer of the broker',
  change: 'Change',
  delivery: 'Delivery to a webhook endpoint'
}

/** The kind of a step, for people. */
export function titleOf({ step, action, placed_here: isOurs, is_proved: isProved, carried }: OrderStep): string {
  if (step === 'request' && action === 'order.adopt') return 'Adopted'
  if (step === 'recorded' && isOurs === false) return 'Recorded'
  if (step === 'sent' && isProved !== true) return 'Possibly sent to the broker'
  if (step === 'delivery' && carried !== true) return 'Delivery that may have had this order'
  return TITLES[step]
}

/** How a step went, by the member that says so; null where there is none. */
export function outcomeOf({ step, action, result, submission_state: submission, status, failure }: OrderStep): string | null {
  switch (step) {
    case 'request':
      return action === null ? null : `${shown(action)}: ${shown(result)}`
    case 'answer':
    case 'settled':
      return shown(submission)
    case 'change':
      return shown(status)
    case 'delivery':
      return failure === null ? 'delivered' : shown(failure)
    default:
      return null
  }
}

/** What a null of a step means: what an event, an attempt or an audit entry did not have is not missing. */
export function nullOf({ source }: OrderStep, member: string): 'none' | 'unknown' {
  return source === 'order' || member === 'carried' ? 'unknown' : 'none'
}

/** Whether the order was sent. The one attempt is counted before it is made, so that only the broker's word proves it. */
export function sentText(state: Submission['state'], attempts: number): string {
  if (attempts === 0) return 'not sent by this service'
  return state === 'acknowledged' || state === 'refused' ? 'sent once' : 'sent at most once'
}
