/* Python inside a fuzz program: see embedded.h.
 *
 * The sanitizers see Python's small objects without an allocation of theirs for each of them: a block stands between
 * poisoned bytes, is poisoned when it is freed and lies idle until so many others of its size were freed. With
 * PYTHONMALLOC=malloc each object is an allocation, as it has to be for finding leaks. */
#include "embedded.h"

#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PyMODINIT_FUNC PyInit__c(void);

void broken(const char *what)
{
    fprintf(stderr, "finding: %s\n", what);
    if (PyErr_Occurred()) PyErr_Print();
    abort();
}

PyObject *need(PyObject *object, const char *what)
{
    if (!object) broken(what);
    return object;
}

enum { STEP = 16, SIZES = 40, IDLE = 32, PIECE = 1 << 20 };

/* In front of every block, 16 bytes, poisoned: what it holds and the next block that is free. */
typedef struct { uint64_t size; char *next; } Head;

typedef struct { char *first, *last; size_t many; } Free;

static Free freed[SIZES + 1];
static char *fresh, *fresh_end;

static Head *head_of(void *block) { return (Head *)block - 1; }

static void *take(void *none, size_t n)
{
    size_t kind = (n + STEP - 1) / STEP + !n;
    char *block;
    if (kind > SIZES) {
        char *whole = malloc(n + sizeof(Head));
        if (!whole) return NULL;
        block = whole + sizeof(Head);
        head_of(block)->size = n;
        __asan_poison_memory_region(whole, sizeof(Head));
        return block;
    }
    Free *f = freed + kind;
    if (f->many > IDLE) {
        block = f->first;
        f->first = head_of(block)->next;
        f->many--;
    } else {
        size_t room = sizeof(Head) + kind * STEP;
        if ((size_t)(fresh_end - fresh) < room + sizeof(Head)) {
            fresh = malloc(PIECE);
            if (!fresh) return NULL;
            fresh_end = fresh + PIECE;
            __asan_poison_memory_region(fresh, PIECE);
        }
        block = fresh + sizeof(Head);
        fresh += room;
    }
    head_of(block)->size = n;
    __asan_unpoison_memory_region(block, n);
    (void)none;
    return block;
}

static void give_back(void *none, void *block)
{
    if (!block) return;
    size_t n = head_of(block)->size, kind = (n + STEP - 1) / STEP + !n;
    if (kind > SIZES) {
        __asan_unpoison_memory_region(head_of(block), sizeof(Head));
        free(head_of(block));
        return;
    }
    if (__asan_address_is_poisoned(block) && n) broken("an object is freed twice");
    __asan_poison_memory_region(block, kind * STEP);
    Free *f = freed + kind;
    if (f->many++) head_of(f->last)->next = block;
    else f->first = block;
    f->last = block;
    (void)none;
}

static void *take_zeros(void *none, size_t n, size_t size)
{
    void *block = take(none, n * size);
    return block ? memset(block, 0, n * size) : NULL;
}

static void *take_more(void *none, void *block, size_t n)
{
    void *grown = take(none, n);
    if (grown && block) {
        size_t before = head_of(block)->size;
        memcpy(grown, block, before < n ? before : n);
        give_back(none, block);
    }
    return grown;
}

PyObject *start_python(void)
{
    PyPreConfig before;
    PyConfig config;
    PyPreConfig_InitIsolatedConfig(&before);
    before.allocator = PYMEM_ALLOCATOR_MALLOC;    /* so that the sanitizers see Python's objects */
    if (PyStatus_Exception(Py_PreInitialize(&before))) broken("Python does not start");
    const char *wanted = getenv("PYTHONMALLOC");
    if (!wanted || strcmp(wanted, "malloc")) {
        PyMemAllocatorEx guarded = {NULL, take, take_zeros, take_more, give_back};
        PyMem_SetAllocator(PYMEM_DOMAIN_MEM, &guarded);
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &guarded);
    }
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    PyImport_AppendInittab("_c", PyInit__c);
    if (PyStatus_Exception(Py_InitializeFromConfig(&config))) broken("Python does not start");
    PyConfig_Clear(&config);
    return need(PyImport_ImportModule("_c"), "no kernels");
}
