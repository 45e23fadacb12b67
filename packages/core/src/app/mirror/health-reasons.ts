import type { ConnectionHealth } from '../../domain/account.ts'
import { BrokerFault, type BrokerFaultKind } from '../../ports/broker.ts'
import type { GapCause } from '../../ports/gap.ts'

// The reasons of a connection's health, for platforms. There are few, so that the reason changes only with the cause, and they contain no
// text of a broker or a network, which belongs in the log.

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
  rate_limited: 'it is limiting the request rate',
  malformed: 'its answer cannot be read',
  credentials_rejected: 'it rejects the credentials',
  refused: 'it refuses the request'
}

export const UNFOLLOWED = 'The account is not followed, so every read calls the broker.'
export const OPENING = 'The account stream is being opened; until then the broker is polled.'
export const NO_STREAM = 'The broker has no account stream, so it is polled every few seconds.'
/**
 * Whether a connection is followed as well as it can be for now: by its account stream, or polled where there is none, while it is being
 * opened, or while nobody follows the user.
 */
export function isFollowedAsIntended({ state, reason }: ConnectionHealth): boolean {
  return state === 'live' || (state === 'polling' && (reason === UNFOLLOWED || reason === OPENING || reason === NO_STREAM))
}

export const NOT_STORED = 'The broker’s report could not be stored; it will be read again.'

export function outage(cause: GapCause): string {
  return `The account stream is down: ${OUTAGES[cause]}.`
}

export function outagePolled(cause: GapCause): string {
  return `The account stream is down: ${OUTAGES[cause]}. Until it is back the broker is polled every few seconds.`
}

export function noAnswer(cause: unknown): string {
  return cause instanceof BrokerFault ? `The broker does not answer: ${FAULTS[cause.kind]}.` : NOT_STORED
}

/** For a read that was abandoned. */
export const TOO_SLOW = 'The broker does not answer: it takes too long.'
