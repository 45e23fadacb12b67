/** The reason why a bench does not start, as a message for the user. */

/** Other programs to measure are missing; the message has the command that installs them. */
export class NotInstalled extends Error {
  override readonly name = 'NotInstalled'

  constructor(what: string, folder: string, cause: unknown) {
    super(`${what} are not installed; run: npm ci --prefix ${folder}`, { cause })
  }
}

/** The options are invalid. */
export class InvalidOptions extends Error {
  override readonly name = 'InvalidOptions'
}
