// connect.js for React.
export type { Connected, ConnectOutcome, Exited, ExitReason } from '../connect/index.ts'
export { type TrunklineConnect, type UseTrunklineConnectOptions, useTrunklineConnect } from './use-trunkline-connect.ts'
