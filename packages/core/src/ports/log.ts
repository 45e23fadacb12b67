/** Structured logging. Fields are ids, codes and counts; never a secret, a token or a body. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, unknown>>
