// Mistakes in forms that scripts send: the message is shown in the form, and the field that it is about has the focus.

import { ConnectionLost } from "./connection.js";

// `problem` is the element for the message; without an error the form is shown without a mistake.
export function showMistake(form, problem, error, words = "") {
  problem.hidden = !error;
  problem.id ||= "form-mistake";
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
  if (!error) return;
  problem.textContent = words + error.message + (error instanceof ConnectionLost ? "; try again" : "");
  const field = form.elements[error.field];
  if (!field) return;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", problem.id);
  field.closest(".field").append(problem);
  field.focus();
}

// An error of a field of the form.
export const mistakeIn = (field, message) => Object.assign(new Error(message), { field });
