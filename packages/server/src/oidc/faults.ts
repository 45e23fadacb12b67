/**
 * The provider did not answer, or in a way that cannot be read. `message` continues a sentence that begins with its name; it has no part of
 * the answer.
 */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}

/** The provider, or what it answered, does not prove anybody. `message` is as of {@link ProviderUnavailable}. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused'
}
