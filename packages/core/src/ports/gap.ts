/**
 * Why an account stream lost continuity: the socket closed, a message is missing, no message for more than two heartbeats, the token
 * expired, a message could not be parsed, the queue of events overflowed, or the broker refused the stream.
 */
export const GAP_CAUSES = ['lost', 'missing', 'silence', 'token', 'malformed', 'overflow', 'refused'] as const
export type GapCause = (typeof GAP_CAUSES)[number]
