// The portal in a popup or a frame of a platform's page, with its outcome for that page.
export { type Connect, type ConnectOptions, createConnect, type OpenOptions } from './connect.ts'
export { ConnectError } from './errors.ts'
export type { Connected, ConnectOutcome, Exited, ExitReason } from './outcome.ts'
