/* dap.c - the Debug Adapter Protocol. */
#include <stdlib.h>

#include "common/debugger/ui/prompt.h"

int dap_is_wanted(void)
{
    return 0;
}

void dap_open(Session *session)
{
    (void)session;
}

void dap_before_run(Session *session)
{
    (void)session;
}

void dap_ended(Session *session, int status)
{
    (void)session, (void)status;
}
