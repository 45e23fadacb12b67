/** A log that remembers, for tests. */

import type { Log, LogFields } from '@trunkline/core/ports/log'

export interface LogLine {
  readonly level: keyof Log
  readonly message: string
  readonly fields: LogFields
}

export class MemoryLog implements Log {
  readonly lines: LogLine[] = []

  debug(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'debug', message, fields })
  }

  info(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'info', message, fields })
  }

  warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warn', message, fields })
  }

  error(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'error', message, fields })
  }
}
