import { BrokerFault, type BrokerFaultKind, type GapCause } from '../../ports/broker.ts'

// What platforms read as the reason of a connection's health. Of few kinds, so that it changes only when the cause does, and without
// any text of a broker or a network, which belongs in the log.

const OUTAGES: { readonly [cause in GapCause]: string } = {
  lost: 'its connection was lost',
  missing: 'an event is missing',
  silence: 'the broker fell silent',
  token: 'its access token ended',
  malformed: 'a message could not be read',
  overflow: 'more events came than could be taken in',
  refused: 'the broker refuses it'
}

const FAULTS: { readonly [kind in BrokerFaultKind]: string } = {
  unreachable: 'it cannot be reached',
  rate_limited: 'it asks for a pause',
  malformed: 'its answer cannot be read',
  credentials_rejected: 'it rejects the credentials',
  refused: 'it refuses the request'
}

export const UNFOLLOWED = 'Nobody follows the account, so every read asks the broker.'
export const OPENING = 'The account stream is being opened; until then the broker is asked.'
export const NO_STREAM = 'The broker has no account stream, so it is asked every few seconds.'
export const NOT_STORED = 'What the broker reported could not be stored; it is asked again.'

export function outage(cause: GapCause): string {
  return `The account stream is down: ${OUTAGES[cause]}.`
}

export function outagePolled(cause: GapCause): string {
  return `The account stream is down: ${OUTAGES[cause]}. Until it is back the broker is asked every few seconds.`
}

export function noAnswer(cause: unknown): string {
  return cause instanceof BrokerFault ? `The broker gives no answer: ${FAULTS[cause.kind]}.` : NOT_STORED
}

/** For a read that was not waited for to its end. */
export const TOO_SLOW = 'The broker gives no answer: it takes too long.'
