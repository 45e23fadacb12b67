/** State that a broker keeps for each of its logins. */

/** Made with the first use, and dropped with the login. */
export function perLogin<Login extends object, T>(make: (login: Login) => T): (login: Login) => T {
  const made = new WeakMap<Login, T>()
  return login => {
    const known = made.get(login)
    if (known !== undefined) return known
    const state = make(login)
    made.set(login, state)
    return state
  }
}
