/** The words of cookie banners in eight languages: en, de, fr, es, it, nl, pt, pl. Compared without case. */

/** What the text around the buttons is about. */
export const ABOUT_COOKIES =
  /cookie|consent|gdpr|ccpa|tracking|einwillig|datenschutz|confidentialité|traceurs|témoins|privacidad|consentimiento|galleta|privacidade|consentimento|consenso|toestemming|ciastecz|zgod[ayę]|prywatno|privacy (policy|choices|settings|preferences)|personal(ised|ized) ads/i;

/** Agreements no program may make for a person. */
export const BINDING_AGREEMENT =
  /terms (of (service|use)|and conditions|& conditions)|conditions of use|user agreement|licen[cs]e|eula|years? (old|of age)|\bage\b|over 18|18\+|adult|subscri|newsletter|nutzungsbedingungen|agb\b|geschäftsbedingungen|volljährig|abonn|conditions (générales|d['’]utilisation)|majeur|términos|condiciones de uso|mayor de edad|suscri|termini (di servizio|e condizioni)|condizioni d['’]uso|maggiorenne|iscriv|voorwaarden|meerderjarig|termos (de (uso|serviço)|e condições)|maior de (idade|18)|assin|regulamin|warunki|pełnoletni|prenumer/i;

const REJECT_PHRASES = [
  "reject", "reject all", "reject all cookies", "reject cookies", "decline", "decline all", "decline cookies", "deny", "deny all", "refuse", "refuse all", "disagree", "i do not agree", "i don't agree", "do not accept", "don't accept",
  "only necessary", "necessary only", "use necessary cookies only", "only necessary cookies", "accept only necessary", "accept necessary", "accept necessary cookies", "allow necessary cookies", "only essential", "essential only", "essential cookies only", "accept essential", "accept only essential", "accept only essential cookies", "only required", "required only", "strictly necessary only", "reject non-essential", "reject non-essential cookies", "reject optional cookies", "reject additional cookies", "continue without accepting", "continue without agreeing", "no, thanks", "no thanks", "opt out", "do not sell or share my personal information",
  "ablehnen", "alle ablehnen", "alles ablehnen", "cookies ablehnen", "nicht zustimmen", "verweigern", "nur notwendige", "nur notwendige cookies", "nur notwendige cookies akzeptieren", "nur erforderliche", "nur erforderliche cookies", "nur essenzielle cookies akzeptieren", "nur essenzielle", "nur technisch notwendige", "ohne einwilligung fortfahren", "weiter ohne zustimmung", "optionale ablehnen",
  "refuser", "tout refuser", "refuser tout", "je refuse", "continuer sans accepter", "refuser les cookies", "uniquement les cookies nécessaires", "cookies nécessaires uniquement", "seulement nécessaires",
  "rechazar", "rechazar todo", "rechazar todas", "rechazarlas todas", "rechazar cookies", "rechazar todas las cookies", "denegar", "solo necesarias", "sólo necesarias", "solo las necesarias", "continuar sin aceptar", "no aceptar",
  "rifiuta", "rifiuta tutto", "rifiuta tutti", "rifiuto", "nega", "solo necessari", "solo i necessari", "solo cookie necessari", "continua senza accettare", "non accetto",
  "weigeren", "alles weigeren", "afwijzen", "alles afwijzen", "alleen noodzakelijk", "alleen noodzakelijke cookies", "alleen noodzakelijke", "alleen functionele cookies", "niet accepteren", "doorgaan zonder te accepteren",
  "rejeitar", "rejeitar tudo", "rejeitar todos", "recusar", "recusar tudo", "recusar todos", "apenas necessários", "somente necessários", "apenas os necessários", "continuar sem aceitar", "não aceitar",
  "odrzuć", "odrzuć wszystko", "odrzuć wszystkie", "odrzucam", "odrzucam wszystkie", "tylko niezbędne", "tylko niezbędne pliki cookie", "nie zgadzam się", "kontynuuj bez akceptacji",
];

const ACCEPT_PHRASES = [
  "accept", "accept all", "accept all cookies", "accept cookies", "accept and close", "accept & close", "accept and continue", "accept & continue", "allow", "allow all", "allow all cookies", "allow cookies", "agree", "i agree", "agree and close", "agree & close", "agree to all", "ok", "okay", "got it", "i understand", "understood", "yes, i agree", "consent", "i consent", "i accept", "yes, i accept", "continue", "dismiss", "close",
  "akzeptieren", "alle akzeptieren", "alles akzeptieren", "alle cookies akzeptieren", "cookies akzeptieren", "zustimmen", "allen zustimmen", "alle zulassen", "zulassen", "einverstanden", "ich stimme zu", "zustimmen und weiter", "verstanden", "annehmen", "alle annehmen",
  "accepter", "tout accepter", "accepter tout", "j'accepte", "accepter et fermer", "accepter les cookies", "accepter tous les cookies", "d'accord", "autoriser", "tout autoriser", "j'ai compris", "accepter et continuer",
  "aceptar", "aceptar todo", "aceptar todas", "aceptarlas todas", "aceptar cookies", "aceptar todas las cookies", "acepto", "de acuerdo", "permitir", "permitir todo", "entendido", "aceptar y cerrar", "aceptar y continuar",
  "accetta", "accetta tutto", "accetta tutti", "accetto", "accetta i cookie", "accetta tutti i cookie", "acconsento", "consenti", "consenti tutti", "ho capito", "accetta e chiudi", "accetta e continua",
  "accepteren", "alles accepteren", "alle cookies accepteren", "cookies accepteren", "akkoord", "ik ga akkoord", "toestaan", "alles toestaan", "begrepen", "accepteren en doorgaan",
  "aceitar", "aceitar tudo", "aceitar todos", "aceitar cookies", "aceitar todos os cookies", "aceito", "concordo", "eu concordo", "permitir todos", "entendi", "aceitar e fechar",
  "akceptuj", "akceptuję", "zaakceptuj", "zaakceptuj wszystko", "akceptuj wszystko", "akceptuj wszystkie", "akceptuję wszystkie", "zgadzam się", "zezwól", "zezwól na wszystkie", "rozumiem", "przejdź do serwisu", "akceptuję i przechodzę do serwisu",
];

const rejects = new Set(REJECT_PHRASES);
const accepts = new Set(ACCEPT_PHRASES);

export type ConsentAction = "reject" | "accept";

export function actionOfWords(words: string): ConsentAction | null {
  const phrase = words.toLowerCase().replace(/[’`]/g, "'").replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").replace(/\s+/g, " ");
  if (rejects.has(phrase)) return "reject";
  return accepts.has(phrase) ? "accept" : null;
}

/** Containers of the common consent tools. What is in one of them is about cookies without further proof. */
export const KNOWN_BANNERS = [
  "#onetrust-banner-sdk", "#onetrust-consent-sdk", "#CybotCookiebotDialog", "#usercentrics-root", "#usercentrics-cmp-ui", "#didomi-host", "#didomi-popup", "#qc-cmp2-container", ".qc-cmp2-container", "#sp_message_container", "[id^='sp_message_container']",
  "#truste-consent-track", "#trustarc-banner-overlay", ".truste_box_overlay", "#cookie-law-info-bar", ".cky-consent-container", "#cookiescript_injected", "#iubenda-cs-banner", ".iubenda-cs-container", "#cmpbox", "#cmpwrapper", ".fc-consent-root", "#tarteaucitronRoot", "#axeptio_overlay",
  ".osano-cm-window", "#termly-code-snippet-support", "#cc-main", ".cc-window", ".cookieconsent", "#cookie-consent", "#cookieConsent", "#cookie-banner", "#cookieBanner", ".cookie-banner", ".cookie-consent", ".cookie-notice", "#cookie-notice", "#gdpr-consent-tool-wrapper", "#klaro", ".klaro", "#BorlabsCookieBox", "#real-cookie-banner", "[data-testid='cookie-policy-manage-dialog']", "[data-cookiebanner]", "[data-nosnippet][class*='consent']",
].join(", ");

export const POSSIBLE_BANNERS =
  "dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true], [role=region], [class*=cookie i], [id*=cookie i], [class*=consent i], [id*=consent i], [class*=gdpr i], [id*=gdpr i], [class*=privacy i], [id*=privacy i]";
