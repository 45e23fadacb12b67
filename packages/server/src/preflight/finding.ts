import type { Settings } from '../config/settings.ts'

/** What a check says about one thing the service relies on. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'fault'
  /** What it is about: a setting, a path, the database. */
  readonly about: string
  readonly message: string
}

/** What could be read of the settings; a check leaves out what it cannot know. */
export type Known = Partial<Settings>
