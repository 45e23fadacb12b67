export const DROP_REASONS = ['disconnected', 'full', 'refused', 'malformed', 'repeated', 'unknown'] as const
/**
 * Why a message was not sent, or (malformed, repeated, or unknown: of a newer version) not delivered here. Apart from the bus, which loads
 * the client of NATS.
 */
export type DropReason = (typeof DROP_REASONS)[number]
