import type { Settings } from '../config/settings.ts'

/** The result of one check. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'fault'
  /** The subject: a setting, a path, the database. */
  readonly about: string
  readonly message: string
}

/** The settings that could be read; a check skips what is missing. */
export type Known = Partial<Settings>
