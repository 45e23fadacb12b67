import type { Log, LogFields } from '@trunkline/core/ports/log'
import { withoutSecrets } from './redact.ts'

/** Until the service is ready, warnings are printed as well: on a terminal the log is in a file, which nobody reads yet. */
export class StartLog implements Log {
  readonly #log: Log
  #print: ((text: string) => void) | null

  /** @param say null: the log is on standard output. */
  constructor(log: Log, print: ((text: string) => void) | null) {
    this.#log = log
    this.#print = print
  }

  /** After this call messages go to the log only. */
  ready(): void {
    this.#print = null
  }

  debug(message: string, fields?: LogFields): void {
    this.#log.debug(message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#log.info(message, fields)
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#log.warn(message, fields)
    const facts = Object.entries(fields).map(([name, value]) => `${name}: ${value instanceof Error ? value.message : String(value)}`)
    this.#print?.(withoutSecrets(`warning: ${message}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}\n`))
  }

  error(message: string, fields?: LogFields): void {
    this.#log.error(message, fields)
  }
}
