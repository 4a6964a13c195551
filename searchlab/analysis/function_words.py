"""Function words of languages other than English: their stop lists.

Articles, pronouns, prepositions, conjunctions, auxiliary verbs and a few adverbs, as they are written, in lower case.
As in the English list, words that have a meaning of their own in queries are left out ("essai", "valeur"), so
that the lists are shorter than most published ones. Elided forms ("l'", "dell'") are not listed: the tokenizer removes
them.
"""

from __future__ import annotations

_ARABIC = """
    في من على إلى الى عن مع أن ان إن أو او ثم بل لا لم لن ما هو هي هم هن نحن أنا انا أنت انت هذا هذه ذلك تلك هؤلاء
    الذي التي الذين اللذين اللواتي كان كانت كانوا يكون تكون قد لقد كل بعد قبل بين عند حتى إذا اذا كما لكن و ف ب ل ك
    منذ حيث غير أي اي هناك هنا فيه فيها منه منها به بها له لها لهم إلا الا أما اما ليس ليست
"""
_DANISH = """
    og i jeg det at en den til er som på de med han af for ikke der var mig sig men et har om vi min havde ham hun nu
    over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne ind når være dog noget
    ville jo deres efter ned skulle denne end dette mit også under have dig anden hende mine alt meget sit sine vor
    mod disse hvis din nogle hos blive mange ad bliver hendes været thi jer sådan hvilke hvilken hvilket hvem kan må
    måtte
"""
_DUTCH = """
    de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan zou of wat mijn
    men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u want nog zal me
    zij nu ge geen omdat iets worden toch al waren veel meer doen toen moet ben zonder kan hun dus alles onder ja eens
    hier wie werd altijd doch wordt wezen kunnen ons zelf tegen na reeds wil kon niets uw iemand geweest andere
"""
_FINNISH = """
    olla olen olet on olemme olette ovat ole oli olisi olisit olisin olisimme olisitte olisivat olit olin olimme
    olitte olivat ollut olleet en et ei emme ette eivät minä minun minut minua minussa minusta minuun minulla minulta
    minulle sinä sinun sinut sinua hän hänen hänet häntä me meidän meidät meitä te teidän teidät teitä he heidän
    heidät heitä tämä tämän tätä tässä tästä tähän tällä tältä tälle tänä täksi tuo tuon tuota tuossa se sen sitä
    siinä siitä siihen sillä siltä sille siksi nämä näiden näitä näissä nuo noiden ne niiden niitä niissä niistä
    niihin niillä niille kuka kenen kenet ketä mikä minkä mitä missä mistä mihin millä miltä mille joka jonka jota
    jossa josta johon jolla jolta jolle jotka joiden joita joissa joista joihin joilla joille että ja jos koska kuin
    mutta niin sekä tai vaan vai vaikka kanssa mukaan noin poikki yli kun nyt itse myös
"""
_FRENCH = """
    le la les l un une des du de d au aux à en dans par pour sur avec sans sous entre vers chez contre depuis pendant
    avant après dès jusque jusqu selon parmi malgré et ou où mais donc ni car que qu qui quoi dont quand comme si
    lorsque puisque quoique afin ainsi alors aussi je j me m moi tu te t toi il elle on nous vous ils elles se s soi
    lui leur leurs eux y ce c cet cette ces ceci cela ça celui celle ceux celles mon ma mes ton ta tes son sa ses
    notre nos votre vos ne n pas plus moins très trop tout toute tous toutes quel quelle quels quelles chaque
    plusieurs même mêmes autre autres être suis es est sommes êtes sont été étant étais était étions étiez étaient
    sera seront serait seraient soit soient fut furent avoir ai as a avons avez ont eu ayant avais avait avions aviez
    avaient aura auront aurait auraient ait aient peut peuvent doit doivent fait font ici là
"""
_GERMAN = """
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines und oder aber denn
    sondern doch als wie wenn weil dass daß ob obwohl damit bevor nachdem während falls sowie sowohl weder noch ich
    mich mir du dich dir er ihn ihm sie ihr ihnen es wir uns euch man sich mein meine meinen meinem meiner meines dein
    deine deinen deinem deiner deines sein seine seinen seinem seiner seines ihre ihren ihrem ihrer ihres unser unsere
    unseren unserem unserer unseres euer eure euren eurem eurer eures dieser diese dieses diesen diesem jener jene
    jenes jenen jenem welcher welche welches welchen welchem jeder jede jedes jeden jedem alle allen aller alles allem
    manche solche solcher solchen solches solchem in im ins an am ans auf aus bei beim mit nach von vom vor zu zum zur
    über unter durch für gegen ohne um bis seit zwischen neben hinter wegen trotz bin bist ist sind seid war warst
    waren wart gewesen wäre wären sei seien habe hast hat haben habt hatte hatten hattest gehabt hätte hätten werde
    wirst wird werden werdet wurde wurden worden würde würden kann kannst können könnt konnte konnten könnte könnten
    muss muß müssen musste mussten soll sollen sollte sollten will wollen wollte darf dürfen nicht nichts auch nur
    schon sehr so da dann dort hier hin her wo wer wen wem wessen was wann warum wieso also daher dabei dadurch dazu
"""
_HUNGARIAN = """
    a az egy és is hogy nem ne de ha vagy mert mint meg már csak még el ki le fel be át ez ezt ezen ezek ennek erre
    ebben ebből ehhez azt azon azok annak arra abban abból ahhoz én te ő mi ti ők engem téged őt minket titeket őket
    nekem neked neki nekünk nektek nekik aki akik akit amely amelyek amelyet ami amit ahol amikor amíg mit kit hol
    mikor hogyan miért van vannak volt voltak volna lesz lesznek lenne lenni vagyok legyen való sem se pedig azonban
    tehát viszont illetve valamint így úgy ilyen olyan minden saját között alatt által után előtt szerint felett majd
    itt ott most igen nagyon több kell lehet
"""
_ITALIAN = """
    il lo la i gli le l un uno una di del dello della dei degli delle dell a al allo alla ai agli alle all da dal
    dallo dalla dai dagli dalle dall in nel nello nella nei negli nelle nell su sul sullo sulla sui sugli sulle sull
    con col coi per tra fra e ed o od ma se perché anche come che chi cui non più né quale quali quanto quanta quanti
    quante dove quando io mi me tu ti te lui lei egli ella esso essa noi ci ce voi vi ve loro essi esse si sé ne mio
    mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre vostro vostra vostri vostre questo
    questa questi queste quello quella quelli quelle quel quei quegli tutto tutta tutti tutte altro altra altri altre
    sono sei è siamo siete era eri erano eravamo essere stato stata stati state sia siano fu furono sarà saranno
    sarebbe sarebbero ho hai ha abbiamo avete hanno aveva avevano avere avuto abbia abbiano avrà avranno avrebbe può
    possono deve devono così quindi poi molto già ancora
"""
_NORWEGIAN = """
    og i jeg det at en et ei den til er som på de med han av ikke ikkje der så var meg seg men ett har om vi min mitt
    ha hadde hun nå over da ved fra du ut sin dem oss opp man kan hans hvor eller hva skal selv sjøl her alle vil bli
    ble blei blitt kunne inn når være kom noen noe ville dere deres kun ja etter ned skulle denne for deg si sine sitt
    mot å meget hvorfor dette disse uten hvordan ingen din ditt blir samme hvilken hvilke sånn inni mellom vår hver
    hvem vors hvis både bare enn fordi før mange også slik vært begge siden dykk dei deira deires ein eit eitt elles
    hjå ho hoe henne hennar hennes hoss hossen ingi inkje korleis korso kva kvar kvarhelst kven kvi mykje noka noko
    nokon nokor nokre somme dykkar upp vore verte vort vart
"""
_PORTUGUESE = """
    o a os as um uma uns umas de do da dos das em no na nos nas num numa por pelo pela pelos pelas para com sem sob
    sobre entre até desde após ante e ou mas que se como quando porque porquê pois também nem não mais menos muito já
    só eu me mim tu te ti ele ela eles elas nós vós lhe lhes você vocês si seu sua seus suas meu minha meus minhas teu
    tua teus tuas nosso nossa nossos nossas este esta estes estas esse essa esses essas aquele aquela aqueles aquelas
    isto isso aquilo ao à aos às qual quais quem onde ser é és sou são somos era eram fui foi fomos foram fosse fossem
    seja sejam sido sendo será serão seria seriam estar está estou estamos estão estava estavam esteve estiveram ter
    tem têm tenho temos tinha tinham teve tiveram tenha tenham terá terão teria haver há havia houve pode podem deve
    devem
"""
_ROMANIAN = """
    a ai al ale alor am ar are aş aţi au avea avem aveţi ca că căci când care căreia căruia cărora cât câte câţi ce
    cei cel cele celor cine cu cum da dacă dar de deci deoarece despre din dintre după ea ei el ele era erau este eşti
    eu fără fi fie fiecare fost iar îi îl îmi în înainte încă între îşi îţi la le li lor lui mai mă mea mei mele meu
    mi ne ni nici noastră noastre noi nostru noştri nu o ori pe pentru peste prin printre sa să săi sale sau său se şi
    sine sub sunt suntem sunteţi spre te tu ta tăi tale tău toate tot toţi un una unde unei unele unor unui unul va vă
    vei vor voi vom vostru voastră voştri voastre aceasta această aceste acest acesta aceştia acela aceea acele acel
    acei asta astfel atunci aici acolo foarte prea
"""
_RUSSIAN = """
    и в во не что он на я с со как а то все всё она так его но да ты к у же вы за бы по только ее её мне было вот от
    меня еще ещё нет о об обо из ему теперь когда даже ну ли если уже или ни быть был него до вас опять уж вам ведь
    там потом себя ей они тут где есть надо ней для мы тебя их чем была сам чтоб чтобы без чего тоже себе под будет ж
    тогда кто этот того потому этого какой ним здесь этом тем нее неё были куда зачем всех можно при два другой хоть
    после над тот через эти нас про всего них какая эта свой свою своя своё своего своей своим своих этой перед том
    такой им между это эту этим этих которого которой которые который которая которое которых которым которую является
    являются также весь вся мой моя моё мои твой твоя ваш ваша наш наша наши
"""
_SPANISH = """
    el la los las lo un una unos unas de del a al en por para con sin sobre entre hasta desde hacia contra según
    durante mediante ante bajo tras y e o u ni pero mas sino que porque pues si aunque cuando como donde mientras
    también ya no más muy yo me mí tú te ti él ella ello nosotros nosotras vosotros vosotras ellos ellas se sí nos os
    le les mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro vuestra vuestros vuestras mío mía míos mías
    tuyo tuya tuyos tuyas suyo suya suyos suyas este esta estos estas ese esa esos esas esto eso aquel aquella
    aquellos aquellas aquello éste ésta éstos éstas qué quién quien quienes cual cuales cuál cómo dónde cuándo todo
    toda todos todas otro otra otros otras algún alguna algunos algunas ningún ninguna cada tan tanto así ser es son
    soy eres somos era eran fue fueron fui sido siendo sea sean será serán sería serían estar está están estoy estamos
    estaba estaban estuvo estuvieron esté estén haber ha han he hemos había habían hubo hay haya hayan habrá habría
    tener tiene tienen tenía tenían tuvo puede pueden debe deben
"""
_SWEDISH = """
    och det att i en jag hon som han på den med var sig för så till är men ett om hade de av icke inte mig du henne då
    sin nu har hans honom skulle hennes där min man ej vid kunde något från ut när efter upp vi dem vara vad över än
    dig kan sina här ha mot alla under någon eller allt mycket sedan ju denna själv detta åt utan varit hur ingen mitt
    ni bli blev oss din dessa några deras blir mina samma vilken er sådan vår blivit dess inom mellan sådant varför
    varje vilka ditt vem vilket sitta sådana vart dina vars vårt våra ert era vilkas också ska skall
"""

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "arabic": _ARABIC,
        "danish": _DANISH,
        "dutch": _DUTCH,
        "finnish": _FINNISH,
        "french": _FRENCH,
        "german": _GERMAN,
        "hungarian": _HUNGARIAN,
        "italian": _ITALIAN,
        "norwegian": _NORWEGIAN,
        "portuguese": _PORTUGUESE,
        "romanian": _ROMANIAN,
        "russian": _RUSSIAN,
        "spanish": _SPANISH,
        "swedish": _SWEDISH,
    }.items()
}
