/** The embedded database engine: PostgreSQL inside this process, durable against crashes and power cuts, with one process per directory. */
export {
  EmbeddedDatabase,
  type EmbeddedOptions,
  type EmbeddedStats,
  type EmbeddedTransaction,
  openEmbedded,
  type Result
} from './database.ts'
export { embeddedDialect, embeddedRows } from './dialect.ts'
export { EngineMisuse, EngineRefused, EngineUnavailable, type RefusedReason, type UnavailableReason } from './errors.ts'
export { TransactionAborted } from './member.ts'
export { DEFAULT_TYPES, type Types } from './wire.ts'
