export const DROP_REASONS = ['disconnected', 'full', 'refused', 'malformed'] as const
/** Why a message was not sent, or (malformed) not delivered here. Apart from the bus, which loads the client of NATS. */
export type DropReason = (typeof DROP_REASONS)[number]
