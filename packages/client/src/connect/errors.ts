/** An option of `createConnect` or `open` cannot be used: nothing was opened. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError'
  readonly code = 'setting_invalid'
}
