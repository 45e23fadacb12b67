import type { ConnectionAttempt } from '../../domain/account.ts'
import type { AttemptId, ConnectionId, PlatformId } from '../../domain/ids.ts'

/** Every outcome of a portal visit. */
export type PortalOutcomeReason =
  | 'connected'
  | 'declined'
  | 'keys_refused'
  | 'expired'
  | 'used'
  | 'other_browser'
  | 'unknown_link'
  | 'bad_callback'
  | 'foreign_form'
  | 'broker_down'
  | 'other_login'
  | 'not_renewable'
  | 'user_removed'

/** The outcome of a visit, and where the user is sent; null: they stay on our page. */
export interface PortalOutcome {
  readonly kind: 'outcome'
  readonly reason: PortalOutcomeReason
  readonly redirect: string | null
  /** The user's platform, to offer a way back to it; null if it must not be revealed. */
  readonly platformId: PlatformId | null
  /** Null if it is unknown, or must not be revealed. */
  readonly attemptId: AttemptId | null
}

/** What the platform receives with the redirect. */
const ERRORS: {
  readonly [reason in Exclude<PortalOutcomeReason, 'connected'>]: { readonly error: '400' | '401' | '500'; readonly details: string }
} = {
  declined: { error: '401', details: 'The user declined the connection.' },
  keys_refused: { error: '401', details: 'The broker did not accept the keys that the user entered.' },
  expired: { error: '400', details: 'The link has expired. Create a new connection.' },
  used: { error: '400', details: 'The link has been used. Create a new connection.' },
  other_browser: { error: '400', details: 'The link was opened in another browser. Create a new connection.' },
  unknown_link: { error: '400', details: 'The link is not valid. Create a new connection.' },
  bad_callback: { error: '400', details: 'The broker’s answer did not belong to this link. Create a new connection.' },
  foreign_form: { error: '400', details: 'The form was sent from another site. Create a new connection.' },
  broker_down: { error: '500', details: 'The broker could not complete the login. Try again later.' },
  other_login: {
    error: '400',
    details: 'Another login came back than that of the connection: it does not reach all of its accounts. Nothing was changed.'
  },
  not_renewable: {
    error: '400',
    details: 'The connection was removed, or its broker is used in another environment now. Create a new connection.'
  },
  user_removed: { error: '400', details: 'The user was deleted during the login. Nothing was connected.' }
}

/** What an outcome says of its attempt. */
export type EndedAttempt = Pick<ConnectionAttempt, 'attemptId' | 'platformId' | 'redirectUrl' | 'redirectOnErrorUrl'>

/** The end of an attempt without a connection. `attempt` is null if its redirect target must not be revealed. */
export function ended(attempt: EndedAttempt | null, reason: Exclude<PortalOutcomeReason, 'connected'>): PortalOutcome {
  const target = attempt?.redirectOnErrorUrl ?? attempt?.redirectUrl ?? null
  const { error, details } = ERRORS[reason]
  return {
    ...{ kind: 'outcome', reason, platformId: attempt?.platformId ?? null, attemptId: attempt?.attemptId ?? null },
    redirect: target === null ? null : withQuery(target, { error, error_details: details })
  }
}

/** The end of an attempt with a connection, or with one to be claimed with `code`. */
export function connected(attempt: ConnectionAttempt, connectionId: ConnectionId, code: string | null = null): PortalOutcome {
  const ours = { connection_id: connectionId, ...(code === null ? {} : { claim_code: code }) }
  const redirect = attempt.redirectUrl === null ? null : withQuery(attempt.redirectUrl, ours)
  return { kind: 'outcome', reason: 'connected', redirect, platformId: attempt.platformId, attemptId: attempt.attemptId }
}

/** What is ours in a redirect, whichever outcome it has: another one's is never read from the platform's own query. */
const OURS = new Set(['connection_id', 'claim_code', 'error', 'error_details'])

/**
 * Appends our parameters to the platform's query without parsing and rewriting it, because a signature may cover the text. Parameters with
 * names of ours are removed.
 */
function withQuery(target: string, ours: Readonly<Record<string, string>>): string {
  const [address = '', query = ''] = split(target)
  const theirs = query.split('&').filter(pair => pair !== '' && !isOurs(pair))
  const added = Object.entries(ours).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${address}?${[...theirs, ...added].join('&')}`
}

function split(target: string): readonly [string, string] {
  const at = target.indexOf('?')
  return at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

function isOurs(pair: string): boolean {
  return [...new URLSearchParams(pair).keys()].some(name => OURS.has(name))
}
