/** The target with some methods replaced. */
export function withMethods<T extends object>(target: T, methods: Partial<T>): T {
  const replaced: ReadonlyMap<string | symbol, unknown> = new Map(Object.entries(methods))
  return new Proxy(target, {
    get(real, name) {
      if (replaced.has(name)) return replaced.get(name)
      const value = Reflect.get(real, name, real)
      return typeof value === 'function' ? value.bind(real) : value
    }
  })
}
