export type { Connected, ConnectOutcome, Exited, ExitReason } from '../connect/index.js';
export { type TrunklineConnect, type UseTrunklineConnectOptions, useTrunklineConnect } from './use-trunkline-connect.js';
