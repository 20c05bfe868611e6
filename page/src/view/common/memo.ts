// A component that is drawn again only when one of its properties is another value.

import { Component, h, type ComponentChildren, type FunctionComponent } from "preact";

export function memo<P extends object>(inner: (props: P) => ComponentChildren): FunctionComponent<P> {
  class Kept extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return (
        differ(this.props as Record<string, unknown>, next as Record<string, unknown>) ||
        differ(next as Record<string, unknown>, this.props as Record<string, unknown>)
      );
    }

    override render(): ComponentChildren {
      return h(inner as FunctionComponent<P>, this.props as P & { children?: ComponentChildren });
    }
  }
  return Kept as unknown as FunctionComponent<P>;
}

function differ(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  for (const key in one) if (!Object.is(one[key], other[key])) return true;
  return false;
}
