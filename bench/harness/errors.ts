/** Why a bench does not begin, as a message for the user. */

/** Other programs that are measured are not there; the message has the command that installs them. */
export class NotInstalled extends Error {
  override readonly name = 'NotInstalled'

  constructor(what: string, folder: string, cause: unknown) {
    super(`${what} are not installed; run: npm ci --prefix ${folder}`, { cause })
  }
}

/** The options make no sense. */
export class InvalidOptions extends Error {
  override readonly name = 'InvalidOptions'
}
