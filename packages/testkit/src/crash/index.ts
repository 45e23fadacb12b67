// The crash harness: a house that survives, a service that can be killed at a named point, and the comparison of both afterwards.

export { type Agreement, agreement, logFaults } from './agreement.ts'
export { CLIENT_SECRET, HouseProcess, type Login } from './house.ts'
export { CrashPlatform, type CrashUser, type OrderRecord } from './platform.ts'
export { type Cut, CutProxy } from './proxy.ts'
export { type CrashPoint, type LogEntry, type Question, type RecordKind, ServiceProcess, type StoredOrder } from './service.ts'
