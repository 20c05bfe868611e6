// The switch of notifications.

import { Icon } from "../common/icon";
import { nextTelling, telling, type Telling } from "./notify";

const WORDS: Record<Telling, string> = { off: "off", silent: "on, without sound", sound: "on, with sound" };

export function Bell() {
  const words = `Notifications: ${WORDS[telling.value]}`;
  return (
    <button type="button" class="quiet" aria-label={words} title={words} onClick={() => void nextTelling()}>
      <Icon name={telling.value} />
    </button>
  );
}
