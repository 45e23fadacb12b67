export { type Connect, type ConnectOptions, createConnect, type OpenOptions } from './connect.js';
export { ConnectError } from './errors.js';
export type { Connected, ConnectOutcome, Exited, ExitReason } from './outcome.js';
