"""Nine tasks on real applications, scripted as agents would do them through MCP.

Each module starts an application (``application``), has a script for Roost (``by_roost``) and one
for Playwright MCP (``by_playwright``), and looks for the result in the application's own data
(``check``). The scripts take refs from the replies. ``tests/soak/test_tasks.py`` runs the tasks on
both browsers, ``bench/task_costs.py`` compares what they cost with each server.
"""
