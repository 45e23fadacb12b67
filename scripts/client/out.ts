import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** The folder that the command line asks for; null after printing the usage. */
export function outFolder(usage: string, folder: string): string | null {
  const { help, out } = parseArgs({
    options: { out: { type: 'string', default: folder }, help: { type: 'boolean', short: 'h', default: false } }
  }).values
  if (help) process.stdout.write(usage)
  return help ? null : resolve(out)
}
