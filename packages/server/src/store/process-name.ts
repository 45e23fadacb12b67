// What a process is called in the database, and by operators.
import { hostname } from 'node:os'

/** The length of a session's name in PostgreSQL. */
export const SESSION_NAME_MAX = 63
/** For what is added to the name of one of the process's sessions. */
const SUFFIX_MAX = ' lease'.length

interface Place {
  readonly host?: string
  readonly pid?: number
  /** Tells it from earlier processes with the same number. */
  readonly random: string
}

/**
 * The newest migration that the process knows, where it runs, its number, and a random part. Short enough for a session's name. Other
 * versions read the migration in it.
 */
export function processName(schema: number, { host = hostname(), pid = process.pid, random }: Place): string {
  const [head, tail] = [`trunkline/${schema} `, ` ${pid} ${random}`]
  return `${head}${host.slice(0, SESSION_NAME_MAX - SUFFIX_MAX - head.length - tail.length)}${tail}`
}

/** The newest migration that the process of that name knows. Null: it is of a version that had no such names, or something else. */
export function schemaOf(name: string): number | null {
  const [, schema] = /^trunkline\/(\d{1,9}) /.exec(name) ?? []
  return schema === undefined ? null : Number(schema)
}
