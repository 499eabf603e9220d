"""Oscar, a shop: find a book, put it into the basket, order it as a guest."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.tasks.agent import Agent
from bench.tasks.applications import Application, free_port, from_pypi, running

PACKAGES = ("django-oscar[sorl-thumbnail]==4.2.1", "whoosh-reloaded==2.7.5")
SETTINGS = """
from oscar.defaults import *
import oscar, pathlib
BASE = pathlib.Path(__file__).parent
SECRET_KEY, DEBUG, ALLOWED_HOSTS, ROOT_URLCONF = "x", True, ["*"], "urls"
SITE_ID, USE_TZ, STATIC_URL, MEDIA_ROOT = 1, True, "/static/", str(BASE / "media")
OSCAR_ALLOW_ANON_CHECKOUT = True
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE / "db.sqlite3",
                         "ATOMIC_REQUESTS": True}}
INSTALLED_APPS = ["django.contrib." + name for name in (
    "admin", "auth", "contenttypes", "sessions", "messages", "sites", "staticfiles", "flatpages")]
INSTALLED_APPS += ["oscar.config.Shop", *("oscar.apps." + name for name in (
    "analytics.apps.AnalyticsConfig", "checkout.apps.CheckoutConfig", "address.apps.AddressConfig",
    "shipping.apps.ShippingConfig", "catalogue.apps.CatalogueConfig",
    "catalogue.reviews.apps.CatalogueReviewsConfig", "communication.apps.CommunicationConfig",
    "partner.apps.PartnerConfig", "basket.apps.BasketConfig", "payment.apps.PaymentConfig",
    "offer.apps.OfferConfig", "order.apps.OrderConfig", "customer.apps.CustomerConfig",
    "search.apps.SearchConfig", "voucher.apps.VoucherConfig", "wishlists.apps.WishlistsConfig",
    "dashboard.apps.DashboardConfig", "dashboard.reports.apps.ReportsDashboardConfig",
    "dashboard.users.apps.UsersDashboardConfig", "dashboard.orders.apps.OrdersDashboardConfig",
    "dashboard.catalogue.apps.CatalogueDashboardConfig",
    "dashboard.offers.apps.OffersDashboardConfig",
    "dashboard.partners.apps.PartnersDashboardConfig",
    "dashboard.pages.apps.PagesDashboardConfig", "dashboard.ranges.apps.RangesDashboardConfig",
    "dashboard.reviews.apps.ReviewsDashboardConfig",
    "dashboard.vouchers.apps.VouchersDashboardConfig",
    "dashboard.communications.apps.CommunicationsDashboardConfig",
    "dashboard.shipping.apps.ShippingDashboardConfig")),
    "widget_tweaks", "haystack", "treebeard", "sorl.thumbnail",
    "django_tables2"]
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
        "oscar.apps.search.context_processors.search_form",
        "oscar.apps.checkout.context_processors.checkout",
        "oscar.apps.communication.notifications.context_processors.notifications",
        "oscar.core.context_processors.metadata"]}}]
AUTHENTICATION_BACKENDS = ("oscar.apps.customer.auth_backends.EmailBackend",)
HAYSTACK_CONNECTIONS = {"default": {"PATH": str(BASE / "index"),
    "ENGINE": "haystack.backends.whoosh_backend.WhooshEngine"}}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
OSCAR_INITIAL_ORDER_STATUS = "Pending"
"""
URLS = """
from django.apps import apps
from django.urls import include, path
urlpatterns = [path("i18n/", include("django.conf.urls.i18n")),
               path("", include(apps.get_app_config("oscar").urls[0]))]
"""
GOODS = """
from oscar.core.loading import get_model
def make(model, **fields): return get_model(*model.split("."))._default_manager.create(**fields)
make("address.Country", iso_3166_1_a2="DE", iso_3166_1_a3="DEU", iso_3166_1_numeric="276",
     printable_name="Germany", name="Germany", is_shipping_country=True)
make("address.Country", iso_3166_1_a2="FR", iso_3166_1_a3="FRA", iso_3166_1_numeric="250",
     printable_name="France", name="France", is_shipping_country=True)
kind = make("catalogue.ProductClass", name="Book", track_stock=True)
from oscar.apps.catalogue.categories import create_from_breadcrumbs
shelf, partner = create_from_breadcrumbs("Books"), make("partner.Partner", name="Printer")
for number, title in enumerate(["A History of Owls", "Birds at Night", "Owls and Mice",
                                "The Nest Builder", "Roosting Places", "Feathers"]):
    book = make("catalogue.Product", product_class=kind, title=title, structure="standalone",
                description=f"All about {title.lower()}.")
    book.categories.add(shelf)
    make("partner.StockRecord", product=book, partner=partner, partner_sku=str(number),
         price_currency="EUR", price=10 + number, num_in_stock=20)
"""
REINDEX = ("rebuild_index", "--noinput", "-v0")


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    programs, port = from_pypi("oscar", *PACKAGES), free_port()
    address = f"http://127.0.0.1:{port}"
    site = programs.parent / "site"
    if not (site / "ready").exists():
        _build(programs, site)
    shutil.copytree(site, folder, dirs_exist_ok=True)
    environment = _environment(folder)
    command = [programs / "django-admin", "runserver", "--noreload", f"127.0.0.1:{port}"]
    with running(command, folder, answers=address, environment=environment):
        yield Application(address, folder)


def _build(programs: Path, site: Path) -> None:
    """Make the database with its goods once, because that takes a while."""
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir()
    (site / "settings.py").write_text(SETTINGS, encoding="utf-8")
    (site / "urls.py").write_text(URLS, encoding="utf-8")
    for arguments in (("migrate", "-v0"), ("shell", "-c", GOODS), REINDEX):
        command = [str(programs / "django-admin"), *arguments]
        subprocess.run(command, cwd=site, env=_environment(site), check=True, timeout=300)
    (site / "ready").touch()


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "settings",
        "PYTHONPATH": str(folder),
        "PYTHONWARNINGS": "ignore",
    }


ADDRESS = {
    "First name": "Ann",
    "Last name": "Owl",
    "First line": "Nest 1",
    "City": "Berlin",
    "Post/Zip": "10115",
}


def by_roost(agent: Agent, app: Application) -> None:
    agent.open(app.address, snapshot="none")
    agent.find("Search")
    agent.type('textbox "Search"', "owls", submit=True)
    add = {"after": 'heading "Owls and Mice"', "snapshot": "none"}
    agent.click('button "Add to cart"', **add)
    agent.find("View cart")
    agent.click('link "View cart"')
    agent.type("spinbutton", "2", submit=True)
    agent.click('link "Proceed to checkout"')
    agent.type('textbox "My email', "ann@example.com", submit=True)
    fields = [
        {"target": agent.ref(f'textbox "{label}'), "value": value}
        for label, value in ADDRESS.items()
    ]
    fields.append({"target": agent.ref('combobox "Country'), "value": "Germany"})
    agent.call("browser_fill_form", fields=fields, snapshot="none")
    agent.click('button "Continue"')
    agent.click('link "Continue"')
    agent.click('button "Place order"')
    assert agent.has_read("Your order has been placed")


def by_batches(agent: Agent, app: Application) -> None:
    agent.batch(
        {"tool": "navigate", "url": app.address},
        {"tool": "find", "text": "Search"},
        snapshot="none",
    )
    agent.type('textbox "Search"', "owls", submit=True)
    add = agent.ref('button "Add to cart"', after='heading "Owls and Mice"')
    agent.batch(
        {"tool": "click", "target": add},
        {"tool": "find", "text": "View cart"},
        {"tool": "click", "target": "@last"},
    )
    agent.batch(
        {"tool": "type", "target": agent.ref("spinbutton"), "text": "2", "submit": True},
        {"tool": "find", "text": "Proceed to checkout"},
        {"tool": "click", "target": "@last"},
    )
    agent.type('textbox "My email', "ann@example.com", submit=True)
    fields = [
        {"target": agent.ref(f'textbox "{label}'), "value": value}
        for label, value in ADDRESS.items()
    ]
    fields.append({"target": agent.ref('combobox "Country'), "value": "Germany"})
    agent.batch(
        {"tool": "fill_form", "fields": fields},
        {"tool": "click", "target": agent.ref('button "Continue"')},
    )
    agent.click('link "Continue"')
    agent.click('button "Place order"')
    assert agent.has_read("Your order has been placed")


def by_playwright(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    agent.find("textbox")
    agent.type('textbox "Search"', "owls", submit=True)
    agent.look()
    agent.click('button "Add to cart"', after='link "Owls and Mice"')
    agent.find("View cart")
    agent.click('link "View cart"')
    agent.look()
    agent.type("spinbutton", "2", submit=True)
    agent.find("checkout")
    agent.click('link "Proceed to checkout"')
    agent.look()
    agent.type('textbox "My email', "ann@example.com", submit=True)
    agent.look()
    fields = [
        {
            "target": agent.ref(f'textbox "{label}'),
            "name": label,
            "type": "textbox",
            "value": value,
        }
        for label, value in ADDRESS.items()
    ]
    country = {"target": agent.ref('combobox "Country'), "name": "Country", "type": "combobox"}
    agent.call("browser_fill_form", fields=[*fields, {**country, "value": "Germany"}])
    agent.click('button "Continue"')
    agent.find("Continue")
    agent.click('link "Continue"')
    agent.find("Place order")
    agent.click('button "Place order"')
    agent.find("order")
    assert agent.has_read("Your order has been placed")


def check(app: Application, agent: Agent) -> None:
    with closing(sqlite3.connect(app.folder / "db.sqlite3")) as database:
        (order,) = database.execute("SELECT guest_email, total_incl_tax FROM order_order")
        lines = database.execute("SELECT title, quantity FROM order_line").fetchall()
        (town,) = database.execute("SELECT line4, country_id FROM order_shippingaddress")
    assert order == ("ann@example.com", 24)
    assert lines == [("Owls and Mice", 2)]
    assert town == ("Berlin", "DE")
