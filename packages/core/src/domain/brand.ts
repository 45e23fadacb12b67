declare const brand: unique symbol

/** A nominal type: two brands over the same base are not interchangeable. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** Proves at compile time that a union is handled completely; throws at run time for a value that is not in it. */
export function unreachable(value: never): never {
  throw new TypeError(`unreachable value: ${JSON.stringify(value)}`)
}
