declare const brand: unique symbol

/** A nominal type: two brands over the same base are not interchangeable. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** Compile-time proof that a union has been handled in full; at run time it names the value that slipped through. */
export function unreachable(value: never): never {
  throw new TypeError(`unreachable value: ${JSON.stringify(value)}`)
}
