// stepc show: what a plan says about one parameter, unit or kernel; without one, the report on all of it.
#include "tool/plan_file.h"
#include "tool/plan_report.h"
#include "tool/show.h"

static enum exit_code no_such(struct tool *t, const struct rt_plan *p, bool kernel,
                              const char *name) {
  say(t, "the plan has no %s `%s`%s", kernel ? "kernel" : "parameter",
      str_escape(t->arena, str_of(name)).p,
      show_near(t->arena, p, kernel, str_of(name)).p);
  return EXIT_INPUT;
}

static enum exit_code show_named(struct tool *t, const struct rt_plan *p,
                                 const char *param, const char *kernel) {
  uint32_t i = param != NULL ? show_find_param(p, str_of(param))
                             : show_find_kernel(p, str_of(kernel));
  if (i == RT_NO_ID) {
    return no_such(t, p, param == NULL, param != NULL ? param : kernel);
  }
  out_str(t, param != NULL ? show_param(t->arena, p, i) : show_kernel(t->arena, p, i));
  return EXIT_OK;
}

static enum exit_code show_plan(struct tool *t, const struct rt_plan *p) {
  const char *param = args_value(&t->args, OPT_PARAM);
  const char *kernel = args_value(&t->args, OPT_KERNEL);
  uint64_t unit = 0;
  if (param != NULL || kernel != NULL) {
    return show_named(t, p, param, kernel);
  }
  if (!option_u64(t, OPT_UNIT, 0, UINT32_MAX, &unit)) {
    return EXIT_USAGE;
  }
  if (!args_has(&t->args, OPT_UNIT)) {
    struct plan_view v = {.plan = p};
    out_str(t, args_has(&t->args, OPT_JSON) ? plan_report_json(t->arena, &v)
                                            : plan_report_text(t->arena, &v));
    return EXIT_OK;
  }
  if (unit >= p->n_units) {
    say(t, "the plan has no unit %llu: it has %u, from 0", (unsigned long long)unit,
        p->n_units);
    return EXIT_INPUT;
  }
  out_str(t, show_unit(t->arena, p, (uint32_t)unit));
  return EXIT_OK;
}

enum exit_code cmd_show(struct tool *t) {
  int asked = args_has(&t->args, OPT_PARAM) + args_has(&t->args, OPT_UNIT) +
              args_has(&t->args, OPT_KERNEL);
  if (asked > 1) {
    return usage_error(t,
                       STR("--param, --unit and --kernel ask for one thing: give one"));
  }
  if (asked == 1 && args_has(&t->args, OPT_JSON)) {
    return usage_error(t, STR("--json is for the whole plan"));
  }
  enum exit_code code = EXIT_OK;
  struct rt_plan *plan = plan_file_read(t, t->args.operand[0], &code);
  if (plan != NULL) {
    code = show_plan(t, plan);
  }
  rt_plan_free(plan);
  return code;
}
