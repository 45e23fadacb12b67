// Lists of all members of a union, which the compiler has only as a type.

/** The names of a record that has each of them. One that is missing does not compile. */
export function namesOf<Name extends string>(all: Readonly<Record<Name, true>>): readonly Name[] {
  const names: Name[] = []
  for (const name in all) names.push(name)
  return names
}
